import { writeFile } from "node:fs/promises";
import { buildDocument } from "../server/src/http/openapi/index.ts";

/**
 * Writes docs/openapi.json. Run it after every change of a route or schema and review the diff,
 * because it changes the public contract.
 */
await writeFile(
  new URL("../docs/openapi.json", import.meta.url),
  `${JSON.stringify(buildDocument(), null, 2)}\n`,
);
