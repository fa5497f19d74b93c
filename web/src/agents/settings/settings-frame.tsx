import { Outlet } from "@tanstack/react-router";
import { useAgent } from "../queries.ts";
import { LeaveSettingsGuard } from "./leave-settings-guard.tsx";
import { SettingsProvider } from "./settings-context.tsx";

/**
 * Keeps the settings of an agent while a person goes from its playground to its settings or back.
 * So changes, errors and a save whose response has not come yet belong to both screens.
 */
export function SettingsFrame() {
  return (
    <SettingsProvider agent={useAgent()}>
      <LeaveSettingsGuard />
      <Outlet />
    </SettingsProvider>
  );
}
