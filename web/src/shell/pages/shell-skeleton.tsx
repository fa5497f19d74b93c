import { useLocation } from "@tanstack/react-router";
import { Anchor, Mark } from "../../ui/index.ts";
import { NavigationLink } from "../navigation/item-link.tsx";
import { entriesFor } from "../navigation/items.ts";
import { ScreenSkeleton } from "./screen-skeleton.tsx";

/**
 * The frame while the workspace loads. Its navigation has only the screens that every role can
 * open.
 */
export function ShellSkeleton() {
  const { pathname } = useLocation();
  const id = pathname.split("/")[2] ?? "";
  const links = entriesFor(id).map((item) => (
    <li key={item.path} className="min-w-0 max-md:flex-1">
      <NavigationLink item={item} />
    </li>
  ));
  return (
    <div className="flex min-h-dvh flex-col md:flex-row">
      <div className="sticky top-0 hidden h-dvh w-14 shrink-0 flex-col border-rule border-r p-2 md:flex lg:w-52">
        <Anchor
          href={`/w/${id}`}
          className="flex h-10 items-center gap-2 rounded-control px-2.5 font-semibold text-ink text-section lg:px-2"
        >
          <Mark label="Beckon" />
          <span aria-hidden className="hidden lg:inline">
            Beckon
          </span>
        </Anchor>
        <div className="mt-2 min-h-control" />
        <nav aria-label="Main" className="py-4">
          <ul className="flex flex-col gap-0.5">{links}</ul>
        </nav>
      </div>
      <main className="min-w-0 flex-1 pb-14 md:pb-0">
        <ScreenSkeleton />
      </main>
      <div className="fixed inset-x-0 bottom-0 z-20 h-14 border-rule border-t bg-sheet md:hidden">
        <nav aria-label="Main">
          <ul className="flex h-14 items-center justify-around">{links}</ul>
        </nav>
      </div>
    </div>
  );
}
