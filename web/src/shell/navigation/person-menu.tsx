import { BookOpen, CircleUser, Keyboard, LogOut, Monitor, Moon, Sun } from "lucide-react";
import { useMe } from "../../data/index.ts";
import { Menu, setSingleKeys, setTheme, useSingleKeys, useTheme } from "../../ui/index.ts";
import { entryLook, labelLook } from "./look.ts";

const themes = [
  { theme: "system", label: "System theme", icon: Monitor },
  { theme: "light", label: "Light theme", icon: Sun },
  { theme: "dark", label: "Dark theme", icon: Moon },
] as const;

interface PersonMenuProps {
  readonly showKeys: () => void;
  readonly signOut: () => void;
  /** True to show the person's name at every width. */
  readonly hasLabel?: boolean;
}

/** The menu of the person: theme, keyboard shortcuts, sign out. */
export function PersonMenu({ showKeys, signOut, hasLabel = false }: PersonMenuProps) {
  const { name, email } = useMe();
  const theme = useTheme();
  const hasKeys = useSingleKeys();
  return (
    <Menu
      align="start"
      label="Your account"
      trigger={
        <button type="button" aria-label={`Account of ${name}`} title={email} className={entryLook}>
          <CircleUser aria-hidden />
          <span className={labelLook(hasLabel)}>{name}</span>
        </button>
      }
      items={[
        { heading: email },
        ...themes.map(({ theme: value, label, icon }) => ({
          label,
          icon,
          checked: theme === value,
          onSelect: () => setTheme(value),
        })),
        "separator",
        { label: "Keyboard shortcuts", icon: Keyboard, shortcut: "?", onSelect: showKeys },
        {
          label: "Single-key shortcuts",
          checked: hasKeys,
          onSelect: () => setSingleKeys(!hasKeys),
        },
        { label: "API documentation", icon: BookOpen, href: `${location.origin}/docs` },
        "separator",
        { label: "Sign out", icon: LogOut, onSelect: signOut },
      ]}
    />
  );
}
