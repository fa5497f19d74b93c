import { useRef } from "react";
import { formatCount } from "../../format/index.ts";
import { Anchor } from "../link.tsx";
import { tabLook, tabsLook } from "./tabs.tsx";
import { useOpenTabInSight } from "./use-open-tab-in-sight.ts";

/** A tab that opens a page. */
export interface LinkTab {
  readonly href: string;
  readonly label: string;
  readonly count?: number | undefined;
}

interface LinkTabsProps {
  /** Accessible name: "Agent". */
  readonly label: string;
  /** `href` of the tab whose page is open; undefined if none is. */
  readonly current: string | undefined;
  readonly tabs: readonly LinkTab[];
}

/** Tabs, each of which has its own URL. */
export function LinkTabs({ label, current, tabs }: LinkTabsProps) {
  const nav = useRef<HTMLElement>(null);
  useOpenTabInSight(nav, current);
  return (
    <nav ref={nav} aria-label={label} className={tabsLook}>
      {tabs.map((tab) => (
        <Anchor
          key={tab.href}
          href={tab.href}
          aria-current={tab.href === current ? "page" : undefined}
          className={tabLook}
        >
          {tab.label}
          {tab.count === undefined ? null : (
            <span className="font-mono text-label font-normal text-ink-3">
              {formatCount(tab.count)}
            </span>
          )}
        </Anchor>
      ))}
    </nav>
  );
}
