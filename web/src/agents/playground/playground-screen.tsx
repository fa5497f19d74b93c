import { useSearch } from "@tanstack/react-router";
import { CompareRuns } from "../../runs/index.ts";
import { SplitPane, useChangeSearch } from "../../ui/index.ts";
import { useAgent } from "../queries.ts";
import { SettingsForm } from "../settings/settings-form.tsx";
import { Conversation } from "./conversation.tsx";
import { searchOf } from "./playground-search.ts";

/**
 * The settings of an agent beside a conversation with it. Below a width of 1100 px, only the
 * conversation is shown, because the settings have a tab of their own.
 */
export function PlaygroundScreen() {
  const agent = useAgent();
  const search = searchOf(useSearch({ strict: false }));
  const changeSearch = useChangeSearch();
  const { run, compare } = search;
  return (
    <>
      <title>{`Playground of ${agent.name} · Beckon`}</title>
      <div className="-m-4 -mt-4.25 flex min-w-0 flex-1 flex-col border-t border-rule md:-m-6 md:-mt-6.25">
        <SplitPane
          startLabel="Settings"
          endLabel="Conversation"
          start={<SettingsForm layout="pane" />}
          end={<Conversation search={search} />}
        />
      </div>
      {run === undefined || compare === undefined ? null : (
        <CompareRuns
          earlier={run}
          later={compare}
          onClose={() => changeSearch({ compare: undefined }, { closes: true, keepsScroll: true })}
        />
      )}
    </>
  );
}
