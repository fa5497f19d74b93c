import { Search } from "lucide-react";
import { useWorkspace } from "../../data/index.ts";
import { Anchor, Kbd, Mark } from "../../ui/index.ts";
import { NavigationLink } from "./item-link.tsx";
import { groupTitles, useNavigation } from "./items.ts";
import { Lamp } from "./lamp.tsx";
import { PersonMenu } from "./person-menu.tsx";
import { WorkspaceSwitcher } from "./workspace-switcher.tsx";

interface NavigationProps {
  readonly openPalette: () => void;
  readonly showKeys: () => void;
  readonly signOut: () => void;
}

/**
 * The navigation at the left, 208 px wide. Below a width of 1100 px it shows only icons, and below
 * 768 px it is replaced by the bar at the bottom.
 */
export function Navigation({ openPalette, showKeys, signOut }: NavigationProps) {
  const { id } = useWorkspace();
  const items = useNavigation();
  return (
    <div className="sticky top-0 hidden h-dvh w-14 shrink-0 flex-col border-rule border-r px-2 py-2 md:flex lg:w-52">
      <Anchor
        href={`/w/${id}`}
        className="flex h-10 items-center gap-2 rounded-control px-2.5 font-semibold text-ink text-section lg:px-2"
      >
        <Mark label="Beckon" />
        <span aria-hidden className="hidden lg:inline">
          Beckon
        </span>
      </Anchor>
      <button
        type="button"
        onClick={openPalette}
        title="Find, go and act"
        className="mt-2 flex min-h-control items-center gap-2 rounded-control border border-transparent px-3 text-ink-3 hover:bg-hover hover:text-ink lg:border-edge lg:bg-well lg:px-2"
      >
        <Search aria-hidden />
        <span className="sr-only flex-1 text-left lg:not-sr-only">Find</span>
        <span className="hidden lg:block">
          <Kbd>{/Mac|iP/.test(navigator.platform) ? "⌘ K" : "Ctrl K"}</Kbd>
        </span>
      </button>
      <nav aria-label="Main" className="flex flex-1 flex-col gap-4 overflow-y-auto py-4">
        {Object.entries(groupTitles).map(([group, title]) => {
          const ofGroup = items.filter((item) => item.group === group);
          if (ofGroup.length === 0) return null;
          return (
            <div key={group} className="flex flex-col">
              {title === undefined ? null : (
                <h2 className="sr-only px-2 pb-1 font-normal text-ink-3 text-label lg:not-sr-only lg:px-2 lg:pb-1">
                  {title}
                </h2>
              )}
              <ul className="flex flex-col gap-0.5">
                {ofGroup.map((item) => (
                  <li key={item.path}>
                    <NavigationLink item={item} />
                  </li>
                ))}
              </ul>
            </div>
          );
        })}
      </nav>
      <div className="flex flex-col gap-0.5 border-rule border-t pt-2">
        <Lamp />
        <WorkspaceSwitcher />
        <PersonMenu showKeys={showKeys} signOut={signOut} />
      </div>
    </div>
  );
}
