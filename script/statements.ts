import { writeFileSync } from "node:fs";
import { statementsText } from "../server/src/runs/all-statements.ts";

// Writes the generated SQL to a file, so that its changes can be reviewed.
writeFileSync(new URL("../server/src/runs/statements.sql", import.meta.url), statementsText());
