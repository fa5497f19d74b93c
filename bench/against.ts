import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { checkOut } from "./against/check-out.ts";
import { compareCase, printTable } from "./against/report.ts";
import { startVersion } from "./against/start-version.ts";
import { type Pair, pairOrder, type Side } from "./against/statistics.ts";
import { type Case, cases, casesNamed, type Model, measureCase, type Prepared } from "./cases.ts";
import { withCleanUp } from "./clean-up.ts";
import { joined, type Measurement } from "./measure.ts";
import { prepareAgent } from "./prepare-agent.ts";
import { startReceivers } from "./receivers/start-receivers.ts";
import { startModels } from "./start-models.ts";
import { storeEntries } from "./store-runs.ts";

/**
 * Compares the checkout, including uncommitted changes, with a commit. With `--of`, compares
 * another commit instead of the checkout. For all options see `script/bench --help`.
 *
 * A pair is one measurement of both versions. Each pair starts both versions on new data folders,
 * because differences between two starts of the same version (compiled code, heap, layout of
 * tables) would otherwise look like differences between versions. Within a pair, the two versions
 * are measured alternately in short slices, because the speed of a shared machine changes within
 * seconds. While one version is measured, the processes of the other are stopped with SIGSTOP. Both
 * versions use the checkout's model servers and load generator.
 *
 * After `--pairs` pairs, only the cases with a wide confidence interval are measured in further
 * pairs, up to `--max-pairs` in total. Which version is faster does not decide when to stop,
 * because that would bias the result.
 *
 * With `--one-server`, a pair is one server, with and without the preparation of the case, so that
 * its ratio contains no difference between two starts. Changes in the machine's speed remain.
 */
const { values } = parseArgs({
  options: {
    against: { type: "string", default: "HEAD" },
    of: { type: "string" },
    "one-server": { type: "boolean", default: false },
    pairs: { type: "string", default: "10" },
    "max-pairs": { type: "string" },
    seconds: { type: "string", default: "8" },
    slices: { type: "string", default: "4" },
    only: { type: "string", multiple: true },
    json: { type: "boolean", default: false },
    set: { type: "string", multiple: true, default: [] },
    "stored-entries": { type: "string", default: "0" },
  },
});
const minPairs = positive("pairs");
const maxPairs =
  values["max-pairs"] === undefined ? 2 * minPairs : Math.max(minPairs, positive("max-pairs"));
const seconds = positive("seconds");
const slices = Math.ceil(positive("slices"));
const chosen = casesNamed(values.only);
const oneServer = values["one-server"];
if (oneServer && !chosen.every(({ preparesSlices }) => preparesSlices)) {
  const possible = cases.filter(({ preparesSlices }) => preparesSlices).map(({ name }) => name);
  throw new Error(
    "--one-server is possible only for cases that are prepared for each slice. " +
      `Name one with --only: ${possible.join("; ")}.`,
  );
}
/** The settings of `--set NAME=value`. Only the checkout gets them, to measure what they cost. */
const settings = Object.fromEntries(
  values.set.map((each) => {
    const [name = "", ...value] = each.split("=");
    return [name, value.join("=")];
  }),
);
/**
 * Seconds of load with which each version warms up before its first measurement, so that V8 has
 * compiled the hot code. Includes a ramp of one second, in which connections are opened.
 */
const warmUpSeconds = 8;

const checkout = resolve(import.meta.dirname, "..");

await withCleanUp(async (opened) => {
  const folder = await mkdtemp(join(tmpdir(), "beckon-bench-"));
  opened.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  const measuredRoot = values.of === undefined ? checkout : join(folder, "of");
  const roots = { checkout: measuredRoot, commit: join(folder, "commit") };
  const names = {
    checkout:
      values.of === undefined
        ? "checkout"
        : await checkOut(opened, values.of, { checkout, folder: measuredRoot }),
    commit: oneServer
      ? "the same, not prepared"
      : await checkOut(opened, values.against, { checkout, folder: roots.commit }),
  };
  const modelPorts = await startModels(opened);
  const receivers = await startReceivers(opened);

  const idle: Pair[] = [];
  const measured = new Map(chosen.map((one) => [one, [] as Record<Side, Measurement>[]]));
  const wide = () =>
    chosen.filter((one) =>
      compareCase(one, measured.get(one) ?? []).measures.some(({ narrow }) => !narrow),
    );
  for (let pair = 0, pending = chosen; pending.length > 0; pair++) {
    const began = performance.now();
    for (const [one, measurements] of await measurePair(pair, pending))
      measured.get(one)?.push(measurements);
    const took = ((performance.now() - began) / 1_000).toFixed(0);
    console.error(
      `pair ${pair + 1} of ${pair < minPairs ? minPairs : `at most ${maxPairs}`}: ` +
        `${pending.length} cases in ${took} s`,
    );
    if (pair + 1 >= minPairs) pending = pair + 1 < maxPairs ? wide() : [];
  }

  const compared = chosen.map((one) => compareCase(one, measured.get(one) ?? []));
  if (values.json) console.log(JSON.stringify({ names, seconds, idle, cases: compared }));
  else printTable(names, compared, idle);

  async function measurePair(
    pair: number,
    pending: readonly Case[],
  ): Promise<Map<Case, Record<Side, Measurement>>> {
    const start = (side: Side) => startSide(side, pair);
    const checkoutStarts = start("checkout");
    const [checkoutSide, commitSide] = await Promise.all([
      checkoutStarts,
      oneServer ? checkoutStarts : start("commit"),
    ]);
    const sides = { checkout: checkoutSide, commit: commitSide };
    /** Resumes the processes of a version while `act` runs. */
    const thawed = async <T>(
      side: Side,
      one: Case,
      act: (prepared: Prepared) => Promise<T>,
    ): Promise<T> => {
      const { version, agents } = sides[side];
      const { api, port, key } = version;
      version.thaw();
      const result = await act({ api, port, key, agent: agents[one.model], receivers });
      version.freeze();
      return result;
    };
    const isPrepared = (side: Side, { preparedOn }: Case) =>
      preparedOn === undefined || preparedOn === side;
    const load = (side: Side, one: Case, loadSeconds: number): Promise<Measurement> =>
      thawed(side, one, (prepared) =>
        measureCase(opened, one, {
          target: sides[side].version,
          prepared,
          seconds: loadSeconds,
          prepares: one.preparesSlices === true && isPrepared(side, one),
        }),
      );
    const measureSlices = async (one: Case): Promise<Record<Side, Measurement>> => {
      // The first case warms up longer, because V8 must first compile the code that all cases
      // share. One second is subtracted, because each load begins with a ramp of at least one
      // second.
      const warmUp = one === pending[0] ? warmUpSeconds - 1 : 2;
      for (const side of pairOrder(pair, 0)) await load(side, one, warmUp);
      const found: Record<Side, Measurement[]> = { checkout: [], commit: [] };
      for (let slice = 0; slice < slices; slice++) {
        for (const side of pairOrder(pair + slice, cases.indexOf(one)))
          found[side].push(await load(side, one, seconds / slices));
      }
      return { checkout: joined(found.checkout), commit: joined(found.commit) };
    };
    idle.push({
      checkout: checkoutSide.version.memoryMiB(),
      commit: commitSide.version.memoryMiB(),
    });
    commitSide.version.freeze();
    checkoutSide.version.freeze();
    const results = new Map<Case, Record<Side, Measurement>>();
    for (const one of pending) {
      const undo: (() => Promise<void>)[] = [];
      for (const side of one.preparesSlices === true ? [] : pairOrder(pair, 0)) {
        if (!isPrepared(side, one) || one.prepare === undefined) continue;
        const undoOne = await thawed(side, one, one.prepare);
        undo.push(() => thawed(side, one, undoOne));
      }
      results.set(one, await measureSlices(one));
      for (const each of undo) await each();
    }
    await Promise.all([checkoutSide.version.stop(), commitSide.version.stop()]);
    return results;
  }

  async function startSide(side: Side, pair: number) {
    const egressAllow = [
      ...Object.values(modelPorts),
      ...Object.values(receivers).map(({ message }) => message.port),
    ]
      .map((port) => `127.0.0.1:${port}`)
      .join(",");
    const version = await startVersion(opened, {
      root: roots[side],
      folder: join(folder, `${side}-${pair}`),
      egressAllow,
      ...(side === "checkout" ? { settings } : {}),
    });
    const agent = (model: Model) => prepareAgent(version.api, model, modelPorts[model]);
    const agents = { instant: await agent("instant"), slow: await agent("slow") };
    const entries = Number(values["stored-entries"]);
    if (entries > 0) await storeEntries(await version.databaseUrl(), agents.instant.id, entries);
    return { version, agents };
  }
});

function positive(option: "pairs" | "max-pairs" | "seconds" | "slices"): number {
  const number = Number(values[option]);
  if (!(number > 0))
    throw new Error(`--${option} is "${values[option]}". It must be a number above 0.`);
  return number;
}
