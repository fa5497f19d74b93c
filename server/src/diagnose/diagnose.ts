import { checkClock } from "./clock.ts";
import { checkSettings, checkSurroundings } from "./configuration.ts";
import { checkDatabase } from "./database.ts";
import { checkEgress } from "./egress.ts";
import { type Finding, skipped } from "./finding.ts";
import { checkProviders } from "./providers.ts";

/**
 * Checks what a startup with these settings needs: configuration, database, clock, egress and
 * providers. Changes nothing, and takes at most about 20 seconds.
 * @param env the environment of the startup.
 */
export async function diagnose(
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly Finding[]> {
  const { config, findings } = checkSettings(env);
  if (config === undefined) {
    const others = ["database", "clock", "egress", "providers"] as const;
    return [
      ...findings,
      ...others.map((area) => skipped(area, "Not checked, because a setting is wrong.")),
    ];
  }
  const [surroundings, database, egress, providers] = await Promise.all([
    checkSurroundings(config, env),
    checkDatabase(config),
    checkEgress(config, env),
    checkProviders(config),
  ]);
  const { server } = database;
  return [
    ...findings,
    ...surroundings,
    database.finding,
    ...checkClock([
      ...(server === undefined ? [] : [{ name: "PostgreSQL", aheadMs: server.clockAheadMs }]),
      ...providers.readings,
    ]),
    ...egress,
    ...providers.findings,
  ];
}
