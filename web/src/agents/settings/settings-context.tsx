import type { Agent } from "@beckon/client";
import { createContext, type ReactNode, useContext } from "react";
import { FormProvider } from "react-hook-form";
import { type AgentSettings, useAgentSettings } from "./use-agent-settings.ts";

const SettingsContext = createContext<AgentSettings | undefined>(undefined);

/** Provides the settings of the agent to the form and to the conversation beside it. */
export function SettingsProvider({ agent, children }: { agent: Agent; children: ReactNode }) {
  const settings = useAgentSettings(agent);
  return (
    <SettingsContext value={settings}>
      <FormProvider {...settings.form}>{children}</FormProvider>
    </SettingsContext>
  );
}

/** Returns the settings of the screen. @throws Error outside of `SettingsProvider` */
export function useSettings(): AgentSettings {
  const settings = useContext(SettingsContext);
  if (settings === undefined) throw new Error("useSettings: no SettingsProvider is above");
  return settings;
}
