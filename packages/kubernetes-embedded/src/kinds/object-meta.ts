import type { Schema } from "../resource.ts";
import {
  anything,
  atomic,
  fields,
  flag,
  int64,
  list,
  listBy,
  text,
  textMap,
  textSet,
  time,
} from "./fields.ts";

const owner = atomic(
  fields(
    "An object without which this one has no reason to be.",
    {
      apiVersion: text("The owner's group and version."),
      kind: text("The owner's kind."),
      name: text("The owner's name."),
      uid: text("The owner's uid."),
      controller: flag("True for the one owner that manages this object."),
      blockOwnerDeletion: flag(
        "True where a foreground deletion of the owner waits for this object.",
      ),
    },
    ["apiVersion", "kind", "name", "uid"],
  ),
);

const managedFields = fields("What one manager said of the object, and when.", {
  apiVersion: text("The version in which it was said."),
  fieldsType: text("Always FieldsV1."),
  fieldsV1: anything("The fields that it owns."),
  manager: text("Who it is."),
  operation: text("Apply or Update."),
  subresource: text("The subresource through which it was said."),
  time: time("When it last changed."),
});

/** The schema of the metadata that every object has. */
export const objectMeta: Schema = fields("What is known of every object, whatever its kind.", {
  annotations: textMap("Notes of tools and people; nothing is selected by them."),
  creationTimestamp: time("When it was created."),
  deletionGracePeriodSeconds: int64("How long its deletion waits."),
  deletionTimestamp: time("When its deletion was asked for; it goes once its finalizers are gone."),
  finalizers: {
    ...textSet("What has to be done before it can go."),
    "x-kubernetes-patch-strategy": "merge",
  },
  generateName: text("The beginning of a name; the API makes up the rest."),
  generation: int64("Counts the changes of what is wanted."),
  labels: textMap("Words by which objects are selected."),
  managedFields: list(managedFields, "Who owns which field."),
  name: text("Its name, unique among the objects of its kind in its namespace."),
  namespace: text("The namespace that it lies in."),
  ownerReferences: listBy(
    ["uid"],
    owner,
    "The objects that it belongs to; when all are gone, it goes.",
  ),
  resourceVersion: text("Changes with every write of the object."),
  selfLink: text("Not used any more."),
  uid: text("Tells it from all others, also from those of the same name before and after it."),
});
