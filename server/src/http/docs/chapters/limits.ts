import { maxStoredRejections } from "../../../runs/index.ts";
import { prose, table } from "../html.ts";
import { samplesForGet } from "../samples.ts";
import type { Chapter } from "./chapter.ts";

const outcomes: readonly (readonly [string, string])[] = [
  [
    "Spent before the start",
    `The run is created already failed, with \`plan_exhausted\` or \`ceiling_reached\`. The response is 500 with \`Retry-After\`. A server process stores ${maxStoredRejections} such runs a minute of an agent or trigger; without a run, the response has no \`run_id\`.`,
  ],
  ["Spent while it executes", "The run ends before its next model call, with the same error."],
  [
    "Reserved by other runs",
    "The run waits within its time limit, and continues when enough is returned.",
  ],
  [
    "No known price",
    "If a limit in money applies, the run ends with `price_unknown`. Set a price, or mark the provider as free.",
  ],
];

export function limits(baseUrl: string): Chapter {
  return {
    slug: "plans-and-ceilings",
    title: "Plans and ceilings",
    lead: "How to limit what runs use, and what a run does at a limit.",
    sections: [
      {
        id: "plan-and-ceilings",
        title: "Limits",
        html: `<p>${prose("A plan limits what a workspace uses per month: tokens, voice, browser time and cost. A ceiling limits cost per day, of the workspace, an agent, a key or a trigger: [set one](/docs/limits#setLimit). `limits.max_cost_micros` of an agent limits the cost of one run. To see the workspace's plan and what is left of it:")}</p>`,
        samples: samplesForGet(`${baseUrl}/api/public/plan`),
      },
      {
        id: "at-a-limit",
        title: "At a limit",
        html: `${table(outcomes)}
<p>${prose("The error has `limit` with `scope`, `metric`, `used`, `limit` and `resets_at`, and so has the run. At 50, 80 and 100 percent a workspace event `usage.threshold` is written, once each per period, and again after a raise of the limit. 100 percent are also reached when a model call does not fit into what is left.")}</p>`,
      },
      {
        id: "reservation",
        title: "Reservation",
        html: `<p>${prose("Before each model call, the most that it can use is reserved: one token for each byte of the request, and the output limit that is sent. So runs at the same time cannot spend the same money. What a call does not use is returned when it ends. Without `max_output_tokens`, `limits.reserve_output_tokens` of the agent is sent and reserved, by default 16,384.")}</p>`,
      },
    ],
  };
}
