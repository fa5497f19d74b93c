import { writeFileSync } from "node:fs";
import { statementsText } from "../server/src/runs/all-statements.ts";

// Renews the file in which changes of the generated SQL are reviewed.
writeFileSync(new URL("../server/src/runs/statements.sql", import.meta.url), statementsText());
