import { createConfig, lintFromString } from "@redocly/openapi-core";
import { buildDocument } from "../server/src/http/openapi/index.ts";

/** Lints the OpenAPI document of the routes; `script/check` fails on any problem. */
const config = await createConfig({
  extends: ["recommended"],
  rules: {
    // Two paths that match the same URL are not ambiguous: the one without parameters takes
    // precedence (OpenAPI 3.1, 4.8.8.2).
    "no-ambiguous-paths": "off",
    // Probes, pages and the CORS preflight have no 4xx responses.
    "operation-4xx-response": "off",
    "operation-tag-defined": "error",
    "component-name-unique": "error",
  },
});
const problems = await lintFromString({ source: JSON.stringify(buildDocument()), config });
for (const { severity, ruleId, message, location } of problems)
  console.log(`${severity} ${ruleId}: ${message} (${location[0]?.pointer})`);
if (problems.length > 0) process.exitCode = 1;
