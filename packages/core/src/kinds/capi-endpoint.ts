import { Type } from "typebox";
import { keepUnknown, text } from "./schema.ts";

/** Where an API server is reached, as kinds of v1beta1 have it: empty and 0 until it is known. */
export const apiEndpoint = Type.Object(
  {
    host: Type.Optional(
      text(
        "The hostname or address.",
        { maxLength: 512 },
        {
          rule: "oldSelf == '' || self == oldSelf",
          message: "host cannot change once it is set: restore the old value",
        },
      ),
    ),
    port: Type.Optional(
      Type.Integer({
        description: "The port.",
        format: "int32",
        "x-kubernetes-validations": [
          {
            rule: "oldSelf == 0 || self == oldSelf",
            message: "port cannot change once it is set: restore the old value",
          },
        ],
      }),
    ),
  },
  { description: "The endpoint of the API server.", ...keepUnknown },
);
