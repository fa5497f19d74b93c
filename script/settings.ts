import { writeFile } from "node:fs/promises";
import { renderSettings } from "../server/src/command-line.ts";

/** Writes docs/settings.md. Run it after every change of a setting or an exit code. */
await writeFile(new URL("../docs/settings.md", import.meta.url), renderSettings());
