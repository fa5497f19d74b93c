import { writeFile } from "node:fs/promises";
import { buildDocument } from "../server/src/http/openapi/index.ts";

/**
 * Writes docs/openapi.json. Run it after every change of a route or a schema, and read the
 * difference: it is the public contract's.
 */
await writeFile(
  new URL("../docs/openapi.json", import.meta.url),
  `${JSON.stringify(buildDocument(), null, 2)}\n`,
);
