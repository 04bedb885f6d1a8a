/** Where each part listens, all on this machine only. */
export interface Ports {
  dashboard: number;
  kubernetes: number;
  azure: { http: number; https: number };
  operator: number;
}

/** Ports one after another, or any free ones where the first is 0. */
export function portsFrom(base: number): Ports {
  const at = (offset: number) => (base === 0 ? 0 : base + offset);
  return {
    dashboard: at(0),
    kubernetes: at(1),
    azure: { http: at(2), https: at(3) },
    operator: at(4),
  };
}

/** How many there are. */
export const portCount = 5;
