import type { Resource, Stored } from "../resource.ts";
import { builtIn, column, nameColumn } from "./built-in.ts";
import { condition } from "./condition.ts";
import {
  anything,
  bytes,
  fields,
  flag,
  int32,
  int64,
  list,
  listBy,
  oneOf,
  text,
  texts,
} from "./fields.ts";

const names = fields(
  "What objects of the kind are called.",
  {
    categories: texts("The groups of kinds that it is shown with, such as all."),
    kind: text("What one of them is, in CamelCase."),
    listKind: text("What a list of them is."),
    plural: text("How the kind is named in paths."),
    shortNames: texts("Shorter names for people."),
    singular: text("The name of one for people."),
  },
  ["plural", "kind"],
);

const columnOfTable = fields(
  "A column of what kubectl get shows.",
  {
    description: text("What it says."),
    format: text("The form of its values."),
    jsonPath: text("Where its value is."),
    name: text("Its heading."),
    priority: int32("Above 0 it is shown only with -o wide."),
    type: text("integer, number, boolean, string or date."),
  },
  ["name", "type", "jsonPath"],
);

const version = fields(
  "One version of the kind.",
  {
    additionalPrinterColumns: list(columnOfTable, "The columns of what kubectl get shows."),
    deprecated: flag("True where clients are to be warned of it."),
    deprecationWarning: text("What they are told."),
    name: text("Its name, such as v1."),
    schema: fields("What its objects look like.", {
      openAPIV3Schema: anything("A structural schema: OpenAPI v3 with Kubernetes' own words."),
    }),
    selectableFields: list(
      fields("A field that lists can be narrowed by.", { jsonPath: text("Where it is.") }, [
        "jsonPath",
      ]),
      "The fields that lists can be narrowed by.",
    ),
    served: flag("Whether it can be asked for."),
    storage: flag("Whether objects are stored in it; true for one version."),
    subresources: fields("The parts that are written apart.", {
      scale: fields(
        "Where replicas are.",
        {
          labelSelectorPath: text("Where their labels are."),
          specReplicasPath: text("Where the wanted number is."),
          statusReplicasPath: text("Where the present number is."),
        },
        ["specReplicasPath", "statusReplicasPath"],
      ),
      status: anything("Present where status is written apart."),
    }),
  },
  ["name", "served", "storage"],
);

const service = fields(
  "The Service that converts.",
  {
    name: text("Its name."),
    namespace: text("Its namespace."),
    path: text("Its path."),
    port: int32("Its port."),
  },
  ["namespace", "name"],
);

const conversion = fields(
  "How objects are turned from one version into another.",
  {
    strategy: { ...oneOf(["None", "Webhook"], "By nobody, or by a webhook.") },
    webhook: fields(
      "Who does it.",
      {
        clientConfig: fields("How it is reached.", {
          caBundle: bytes("Who signs its certificate."),
          service,
          url: text("Where it is."),
        }),
        conversionReviewVersions: texts("The versions of the question that it understands."),
      },
      ["conversionReviewVersions"],
    ),
  },
  ["strategy"],
);

const spec = fields(
  "What is wanted.",
  {
    conversion,
    group: text("The group that the kind is in."),
    names,
    preserveUnknownFields: flag("Not used any more."),
    scope: oneOf(["Cluster", "Namespaced"], "Whether its objects lie in namespaces."),
    versions: list(version, "The versions of the kind."),
  },
  ["group", "names", "scope", "versions"],
);

const {
  "x-kubernetes-patch-merge-key": _,
  "x-kubernetes-patch-strategy": __,
  ...conditions
} = listBy(
  ["type"],
  condition("One thing that is known of the definition.", {
    observedGeneration: int64("The generation that it speaks of."),
  }),
  "What is known of it.",
);

const status = fields("What is known of it.", {
  acceptedNames: names,
  conditions,
  observedGeneration: int64("The generation that was last looked at."),
  storedVersions: texts("The versions in which objects may be stored."),
});

/** The kind that makes other kinds known. */
export const customResourceDefinition: Resource = builtIn({
  group: "apiextensions.k8s.io",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  shortNames: ["crd", "crds"],
  categories: ["api-extensions"],
  namespaced: false,
  status: true,
  description: "A kind that the API serves beside those that it knows by itself.",
  properties: { spec, status },
  required: ["spec"],
  columns: [nameColumn, column("Created At", createdAt)],
  strategy: { counted: true },
});

function createdAt({ metadata }: Stored): string {
  return metadata.creationTimestamp;
}
