import { Panel } from "../../ui/index.ts";
import { BrowserSettings } from "./browser-settings.tsx";
import { NameForm } from "./name-form.tsx";
import { PasswordForm } from "./password-form.tsx";
import { SessionsPanel } from "./sessions-panel.tsx";

/** Settings of the signed-in person, the same in all workspaces. */
export function AccountSettings() {
  return (
    <>
      <Panel title="You" padding="none">
        <NameForm />
      </Panel>
      <Panel title="Password">
        <PasswordForm />
      </Panel>
      <SessionsPanel />
      <Panel title="This browser">
        <BrowserSettings />
      </Panel>
    </>
  );
}
