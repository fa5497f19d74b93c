import { Monitor, Moon, Sun } from "lucide-react";
import {
  RadioCards,
  Switch,
  setSingleKeys,
  setTheme,
  useSingleKeys,
  useTheme,
} from "../../ui/index.ts";

/**
 * The settings that are stored in this browser: the theme, and whether shortcuts of a single key
 * are switched on.
 */
export function BrowserSettings() {
  const theme = useTheme();
  return (
    <div className="flex flex-col gap-4">
      <RadioCards
        label="Theme"
        options={[
          { value: "system", label: "System", icon: Monitor },
          { value: "light", label: "Light", icon: Sun },
          { value: "dark", label: "Dark", icon: Moon },
        ]}
        value={theme}
        onChange={setTheme}
        columns={3}
      />
      <Switch
        label="Single-key shortcuts"
        hint="Such as / for search, J and K for rows, g then r for runs. Ctrl K or ⌘ K always works."
        checked={useSingleKeys()}
        onChange={(event) => setSingleKeys(event.target.checked)}
      />
    </div>
  );
}
