import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { Command } from "cmdk";
import { useDeferredValue, useState } from "react";
import { sentenceOf, useWorkspace } from "../../data/index.ts";
import { setTheme } from "../../ui/index.ts";
import { useNavigation } from "../navigation/items.ts";
import { PaletteItem } from "./palette-item.tsx";
import { pathOfId } from "./path-of-id.ts";

interface PaletteProps {
  readonly close: () => void;
  readonly showKeys: () => void;
  readonly signOut: () => void;
}

const group =
  "[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-ink-3 [&_[cmdk-group-heading]]:text-label";

/** Finds screens, agents and ids, and offers the actions that are available on every screen. */
export function Palette({ close, showKeys, signOut }: PaletteProps) {
  const workspace = useWorkspace();
  const router = useRouter();
  const items = useNavigation();
  const [text, setText] = useState("");
  const search = useDeferredValue(text.trim());
  const found = pathOfId(search, workspace.id, Object.keys(router.routesById));
  const agents = useQuery({
    queryKey: [workspace.id, "agents", "palette", search],
    queryFn: ({ signal }) =>
      workspace.client.agents
        .list({ limit: 8, view: "summary", ...(search && { search }) }, { signal })
        .page(),
    // Keeps the earlier results during a search. Otherwise the selected agent would vanish, and
    // Enter would do nothing.
    placeholderData: keepPreviousData,
    enabled: workspace.can("agents:read") && items.some(({ path }) => path === "/agents"),
  });
  const isSearching = agents.isFetching || search !== text.trim();
  const run = (act: () => void) => () => {
    close();
    act();
  };
  const go = (path: string) =>
    run(() => void router.navigate({ href: `/w/${workspace.id}${path}` }));
  return (
    <Command
      label="Find, go and act"
      loop
      filter={matches}
      className="flex min-h-0 flex-1 flex-col"
    >
      <Command.Input
        value={text}
        onValueChange={setText}
        autoFocus
        placeholder="Find a screen or agent, or paste an id"
        className="h-12 flex-none border-rule border-b bg-transparent px-4 text-section outline-none"
      />
      <Command.List className="min-h-24 flex-1 overflow-y-auto p-2">
        <Command.Empty className="px-2 py-6 text-center text-ink-3">
          {isSearching
            ? "Searching…"
            : agents.isError
              ? `The agents could not be searched. ${sentenceOf(agents.error)}`
              : `Nothing matches “${search}”.`}
        </Command.Empty>
        {found === undefined ? null : (
          <Command.Group heading="Id" className={group}>
            <PaletteItem value={search} onSelect={go(found)}>
              Open <span className="truncate font-mono text-dense">{search}</span>
            </PaletteItem>
          </Command.Group>
        )}
        <Command.Group heading="Go to" className={group}>
          {items.map(({ label, path, icon, key }) => (
            <PaletteItem key={path} value={label} icon={icon} keys={`g ${key}`} onSelect={go(path)}>
              {label}
            </PaletteItem>
          ))}
        </Command.Group>
        {agents.data === undefined || agents.data.data.length === 0 ? null : (
          <Command.Group heading="Agents" className={group}>
            {agents.data.data.map(({ id, name, description }) => (
              <PaletteItem
                key={id}
                value={`${name} ${id}`}
                keywords={[description]}
                onSelect={go(`/agents/${id}/playground`)}
              >
                <span className="truncate">{name}</span>
              </PaletteItem>
            ))}
          </Command.Group>
        )}
        <Command.Group heading="Do" className={group}>
          <PaletteItem value="Light theme" onSelect={run(() => setTheme("light"))}>
            Light theme
          </PaletteItem>
          <PaletteItem value="Dark theme" onSelect={run(() => setTheme("dark"))}>
            Dark theme
          </PaletteItem>
          <PaletteItem value="System theme" onSelect={run(() => setTheme("system"))}>
            System theme
          </PaletteItem>
          <PaletteItem value="Keyboard shortcuts" keys="?" onSelect={run(showKeys)}>
            Keyboard shortcuts
          </PaletteItem>
          <PaletteItem value="Sign out" onSelect={run(signOut)}>
            Sign out
          </PaletteItem>
        </Command.Group>
      </Command.List>
    </Command>
  );
}

/**
 * Returns 1 if every typed word occurs in the value or the keywords, otherwise 0. cmdk's own fuzzy
 * search is not used: it finds "Dark theme" for "dem".
 */
function matches(value: string, search: string, keywords: readonly string[] = []): number {
  const text = [value, ...keywords].join(" ").toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
    ? 1
    : 0;
}
