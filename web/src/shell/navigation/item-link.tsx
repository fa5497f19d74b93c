import { useLocation } from "@tanstack/react-router";
import { Anchor } from "../../ui/index.ts";
import type { NavigationEntry } from "./items.ts";
import { entryLook, labelLook } from "./look.ts";

interface NavigationLinkProps {
  readonly item: NavigationEntry;
  /** True to show the label at every width. */
  readonly hasLabel?: boolean;
  readonly onClick?: () => void;
}

/** An entry of the navigation. Below a width of 1100 px, only its icon is shown. */
export function NavigationLink({ item, hasLabel = false, onClick }: NavigationLinkProps) {
  const { pathname } = useLocation();
  const { label, href, icon: Icon } = item;
  return (
    <Anchor
      href={href}
      title={hasLabel ? undefined : label}
      onClick={onClick}
      aria-current={isCurrent(item, pathname) ? "page" : undefined}
      className={`${entryLook} aria-[current]:bg-pick aria-[current]:text-ink`}
    >
      <Icon aria-hidden />
      <span className={labelLook(hasLabel)}>{label}</span>
    </Anchor>
  );
}

/** Returns whether the path belongs to the entry. */
export function isCurrent({ path, href }: NavigationEntry, pathname: string): boolean {
  return path === "" ? /^\/w\/[^/]+\/?$/.test(pathname) : `${pathname}/`.startsWith(`${href}/`);
}
