import type { Principal } from "../arm/resource-type.ts";

/** Who writes a seed, or changes the world from outside. It may do everything, and it is nobody that could sign in. */
export function seeder(tenant: string): Principal {
  return { tenant, objectId: seederId, appId: seederId };
}

const seederId = "5eed5eed-5eed-4eed-8eed-5eed5eed5eed";

/** Whether it is the seed that writes. */
export function isSeeder({ objectId }: Principal): boolean {
  return objectId === seederId;
}
