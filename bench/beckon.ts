import { readConfig, start } from "../server/src/index.ts";

/** A server process as it runs in production, but for the supervisor above it. */
const beckon = await start({ config: readConfig(process.env) });
process.send?.({ port: Number(new URL(beckon.url).port), demo: beckon.demo });
process.on("disconnect", () => process.exit());
