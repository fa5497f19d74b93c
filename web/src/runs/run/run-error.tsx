import type { Run } from "@beckon/client";
import { useWorkspace } from "../../data/index.ts";
import { Link } from "../../ui/index.ts";
import { adviceFor } from "./error-advice.ts";

/** Why a run ended without output, and what to do. */
export function RunError({ run }: { readonly run: Run }) {
  const { id } = useWorkspace();
  if (run.error === null) return null;
  const { code, message } = run.error;
  const advice = adviceFor(code);
  const isCancelled = code === "cancelled";
  return (
    <section
      aria-label="Why the run ended"
      className={`flex min-w-0 flex-col gap-1 rounded-control border px-4 py-3 ${isCancelled ? "border-rule bg-sheet" : "border-flare bg-flare-soft"}`}
    >
      <p className={`font-semibold break-words ${isCancelled ? "" : "text-flare"}`} dir="auto">
        {message}
      </p>
      {advice === undefined ? null : (
        <p>
          {advice}{" "}
          <Link href={`/w/${id}/agents/${run.agent_id}/settings`}>Open the agent's settings</Link>
        </p>
      )}
      <p className="font-mono text-label text-ink-2">{code}</p>
    </section>
  );
}
