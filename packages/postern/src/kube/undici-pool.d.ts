// undici has types for its whole, not for its parts.
declare module "undici/lib/dispatcher/pool.js" {
  import { Pool } from "undici";

  // biome-ignore lint/style/noDefaultExport: -- it is a CommonJS module, and this is how it exports
  export default Pool;
}
