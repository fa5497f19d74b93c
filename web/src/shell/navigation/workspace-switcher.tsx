import { ChevronsUpDown } from "lucide-react";
import { useMe, useWorkspace } from "../../data/index.ts";
import { Menu } from "../../ui/index.ts";
import { entryLook, labelLook } from "./look.ts";

/** Shows the current workspace. A menu opens the other workspaces of the person. */
export function WorkspaceSwitcher({ hasLabel = false }: { readonly hasLabel?: boolean }) {
  const { id, name } = useWorkspace();
  const { workspaces } = useMe();
  return (
    <Menu
      align="start"
      label="Workspaces"
      trigger={
        <button type="button" aria-label={`Workspace ${name}`} title={name} className={entryLook}>
          <Initial name={name} />
          <span className={labelLook(hasLabel)}>{name}</span>
          <span className={hasLabel ? "text-ink-3" : "hidden text-ink-3 lg:block"}>
            <ChevronsUpDown aria-hidden />
          </span>
        </button>
      }
      items={[
        { heading: "Workspaces" },
        ...workspaces.map((workspace) => ({
          label: workspace.id === id ? `${workspace.name} (open)` : workspace.name,
          href: `/w/${workspace.id}`,
        })),
      ]}
    />
  );
}

function Initial({ name }: { readonly name: string }) {
  const [first = "?"] = name;
  return (
    <span
      aria-hidden
      // The letter is rendered by CSS. As text it would become a part of the button's visible
      // label, which the accessible name must contain (WCAG 2.5.3).
      data-initial={first.toUpperCase()}
      className="flex size-4 flex-none items-center justify-center rounded-bar border border-edge font-semibold text-label leading-none before:content-[attr(data-initial)]"
    />
  );
}
