/** Who asks, as the server knows them. */
export interface Asker {
  username: string;
  uid?: string;
  groups: readonly string[];
}

/** A kind that is posted as a question and comes back with its answer; none is stored. */
export interface Review {
  group: string;
  version: string;
  kind: string;
  plural: string;
  namespaced: boolean;
  /** The status of the answer. `who` tells whom a token belongs to. */
  status(spec: Record<string, unknown>, asker: Asker, who: WhoHas): Record<string, unknown>;
}

/** Whose token it is. */
export type WhoHas = (token: string) => Asker | undefined;

const authorization = { group: "authorization.k8s.io", version: "v1" };
const authentication = { group: "authentication.k8s.io", version: "v1" };

// There is one user here, and nobody else: whoever has a token may do everything.
const allowed = () => ({ allowed: true });

const everything = { verbs: ["*"], apiGroups: ["*"], resources: ["*"] };
const everyPath = { verbs: ["*"], nonResourceURLs: ["*"] };

/** The questions that clients ask about who they are and what they may do. */
export const reviews: readonly Review[] = [
  {
    ...authorization,
    kind: "SelfSubjectAccessReview",
    plural: "selfsubjectaccessreviews",
    namespaced: false,
    status: allowed,
  },
  {
    ...authorization,
    kind: "SubjectAccessReview",
    plural: "subjectaccessreviews",
    namespaced: false,
    status: allowed,
  },
  {
    ...authorization,
    kind: "LocalSubjectAccessReview",
    plural: "localsubjectaccessreviews",
    namespaced: true,
    status: allowed,
  },
  {
    ...authorization,
    kind: "SelfSubjectRulesReview",
    plural: "selfsubjectrulesreviews",
    namespaced: false,
    status: () => ({
      incomplete: false,
      resourceRules: [everything],
      nonResourceRules: [everyPath],
    }),
  },
  {
    ...authentication,
    kind: "SelfSubjectReview",
    plural: "selfsubjectreviews",
    namespaced: false,
    status: (_, asker) => ({ userInfo: asker }),
  },
  {
    ...authentication,
    kind: "TokenReview",
    plural: "tokenreviews",
    namespaced: false,
    status: ({ token }, _, who) => {
      const user = typeof token === "string" ? who(token) : undefined;
      if (user === undefined) return { authenticated: false, user: {}, error: "no such token" };
      return { authenticated: true, user };
    },
  },
];
