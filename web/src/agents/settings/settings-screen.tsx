import { useAgent } from "../queries.ts";
import { LeaveSettingsGuard } from "./leave-settings-guard.tsx";
import { SettingsProvider } from "./settings-context.tsx";
import { SettingsForm } from "./settings-form.tsx";

/** All settings of an agent on a page of their own. */
export function SettingsScreen() {
  const agent = useAgent();
  return (
    <SettingsProvider agent={agent}>
      <title>{`Settings of ${agent.name} · Beckon`}</title>
      <LeaveSettingsGuard />
      <div className="flex min-w-0 flex-1 flex-col">
        <SettingsForm layout="page" />
      </div>
    </SettingsProvider>
  );
}
