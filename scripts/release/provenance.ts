/** A file of a release, or an image. */
export interface Subject {
  name: string;
  sha256: string;
}

/** What a release was made of. */
export interface Origin {
  /** The repository, if it is said. */
  source: string;
  commit: string;
  tag: string;
  node: string;
  lockfile: string;
}

/** Where subjects come from, as an in-toto statement: https://slsa.dev/spec/v1.0/provenance. */
export function provenance(subjects: readonly Subject[], origin: Origin): object {
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: subjects.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "postern.io/release/v1",
        externalParameters: { source: origin.source, tag: origin.tag },
        internalParameters: {},
        resolvedDependencies: [
          {
            uri: `git+${origin.source}@refs/tags/${origin.tag}`,
            digest: { gitCommit: origin.commit },
          },
          { name: "package-lock.json", digest: { sha256: origin.lockfile } },
        ],
      },
      runDetails: {
        builder: { id: "postern.io/scripts/release", version: { node: origin.node } },
      },
    },
  };
}
