/** A region as Azure answers it: `West Europe` and `westeurope` are one. */
export function regionName(location: string): string {
  return location.toLowerCase().replaceAll(" ", "");
}

/** Whether two names stand for one region. */
export function sameRegion(a: string | undefined, b: string): boolean {
  return regionName(a ?? "") === regionName(b);
}
