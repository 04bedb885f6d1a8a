import type { PrivateLinkService } from "../../azure/gateways/private-link-services.ts";
import type { Step } from "../../kube/feature.ts";
import type { ResourceId } from "../../model/resource-id.ts";
import type { NewSubnet } from "./seen.ts";

/** Everything that this feature does. */
export type LinkStep = Step &
  (
    | { do: "note the NAT subnet"; namespace: string; name: string; uid: string; subnet: string }
    | { do: "forget the NAT subnet"; namespace: string; name: string; uid: string }
    | ({ do: "make the NAT subnet" | "make the next NAT subnet" } & NewSubnet)
    | { do: "remove the NAT subnet"; id: ResourceId }
    | { do: "make the link service"; id: ResourceId; body: PrivateLinkService }
    | {
        do: "change the link service";
        id: ResourceId;
        body: PrivateLinkService;
        etag: string | undefined;
      }
    | { do: "remove the link service"; id: ResourceId; etag: string | undefined }
    | { do: "reject a connection" | "remove a connection"; id: ResourceId }
  );
