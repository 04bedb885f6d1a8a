import { bump } from "../../arm/etags.ts";
import type { JsonObject, Resource, Store } from "../../state/store.ts";

/** Keep a record set that Azure makes by itself: with a zone, or for an endpoint. */
export function makeRecordSet(
  zone: Resource,
  type: string,
  name: string,
  properties: JsonObject,
  store: Store,
): Resource {
  const id = `${zone.id}/${type}/${name}`;
  const held = store.get(id);
  const record: Resource = held ?? {
    id,
    key: id.toLowerCase(),
    type: `${zone.type}/${type}`,
    name,
    top: {},
    properties,
    state: "Succeeded",
    version: 0,
    etag: `${id} ${store.tick()}`,
  };
  record.properties = properties;
  bump(record);
  store.put(record);
  return record;
}
