import { useAgent } from "../queries.ts";
import { SettingsForm } from "./settings-form.tsx";

/** All settings of an agent on a page of their own. */
export function SettingsScreen() {
  return (
    <>
      <title>{`Settings of ${useAgent().name} · Beckon`}</title>
      <div className="flex min-w-0 flex-1 flex-col">
        <SettingsForm layout="page" />
      </div>
    </>
  );
}
