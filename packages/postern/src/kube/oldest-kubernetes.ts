/** The oldest version of Kubernetes that serves all that an installation consists of, such as admission policies. */
export const oldestKubernetes = "1.30.0";
