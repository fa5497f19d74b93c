import type { Agent } from "@beckon/client";
import {
  Link,
  Panel,
  type SearchTexts,
  SegmentedControl,
  SnippetTabs,
  useChangeSearch,
} from "../../ui/index.ts";
import { useSearchParameters } from "../search.ts";
import { type CallMode, snippetsOf } from "./snippets.ts";

const modes = [
  { value: "invoke", label: "Wait" },
  { value: "stream", label: "Stream" },
] as const;

const explanations: Readonly<Record<CallMode, string>> = {
  invoke:
    "One request, which gets a response when the run has ended. The run continues if the connection is lost.",
  stream:
    "One request, whose response is a stream: it gets each event, and the words of the model, as they come. The run continues if the connection is lost.",
};

/** Code that calls the agent, ready to paste. */
export function CallPanel({ agent }: { readonly agent: Agent }) {
  const search = useSearchParameters();
  const mode: CallMode = search.mode === "stream" ? "stream" : "invoke";
  const snippets = snippetsOf(mode, { origin: location.origin, agentId: agent.id });
  const language = snippets.find(({ label }) => label.toLowerCase() === search.language)?.label;
  const changeSearch = useChangeSearch();
  const change = (view: SearchTexts) => changeSearch(view, { keepsScroll: true });
  return (
    <Panel
      title="Call this agent"
      actions={
        <SegmentedControl
          label="How to call"
          options={modes}
          value={mode}
          onChange={(next) => change({ mode: next === "invoke" ? undefined : next })}
        />
      }
    >
      <div className="flex min-w-0 flex-col gap-3">
        <p className="max-w-160 text-ink-2">{explanations[mode]}</p>
        <SnippetTabs
          label={mode === "invoke" ? "Call" : "Stream"}
          snippets={snippets}
          value={language ?? "curl"}
          onChange={(next) =>
            change({ language: next === "curl" ? undefined : next.toLowerCase() })
          }
        />
        <p className="max-w-160 text-dense text-ink-2">
          First run <code className="font-mono">export BECKON_TOKEN=…</code> with the API token.
          Save the TypeScript code as <code className="font-mono">call.mjs</code> and run{" "}
          <code className="font-mono">node call.mjs</code>. The curl command needs curl 7.76 or
          newer. To call safely more than once, resume a stream, stop a run or read its result
          later, see the <Link href={`${location.origin}/docs`}>API reference</Link>.
        </p>
      </div>
    </Panel>
  );
}
