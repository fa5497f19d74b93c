import { writeFile } from "node:fs/promises";
import { renderMatrix } from "../server/src/http/api/permission-matrix.ts";

/** Writes docs/permissions.md. Run it after every change of a route's permission, scope or role. */
await writeFile(new URL("../docs/permissions.md", import.meta.url), renderMatrix());
