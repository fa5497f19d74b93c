import type { Tool } from "../src/engine/index.ts";
import { eventually } from "./eventually.ts";

export interface HeldTool {
  /** The tool `hold`. A call with the argument `kib` reserves that many KiB and then waits. */
  readonly tool: Tool;
  /** Releases all calls, present and future. */
  release(): void;
  /** Resolves when `count` calls have begun. */
  called(count: number): Promise<void>;
  readonly calls: number;
}

/** Returns a tool for `StartOptions.tools`. Its calls reserve memory until they are released. */
export function heldTool({ safeToRepeat = true } = {}): HeldTool {
  const gate = Promise.withResolvers<void>();
  let calls = 0;
  return {
    tool: {
      name: "hold",
      description: "holds memory",
      parameters: { type: "object" },
      safeToRepeat,
      async execute(args, { memory }) {
        const isGranted = memory?.grow((args as { kib: number }).kib * 1024);
        calls++;
        await gate.promise;
        return isGranted === true ? "held" : "refused";
      },
    },
    release: () => gate.resolve(),
    called: async (count) =>
      void (await eventually(`${count} calls of the tool`, () => calls >= count || undefined)),
    get calls() {
      return calls;
    },
  };
}
