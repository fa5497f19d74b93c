import { readConfig, start } from "../server/src/index.ts";

/** A server process as in production, but without the supervisor. */
const beckon = await start({ config: readConfig(process.env) });
process.send?.({ port: Number(new URL(beckon.url).port), demo: beckon.demo });
process.on("disconnect", () => process.exit());
