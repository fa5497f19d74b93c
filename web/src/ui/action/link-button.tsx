import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Anchor, type AnchorProps } from "../link.tsx";
import { type ButtonSize, type ButtonVariant, buttonLook } from "./look.ts";

interface LinkButtonProps extends Omit<AnchorProps, "className" | "style"> {
  readonly variant?: ButtonVariant | undefined;
  readonly size?: ButtonSize | undefined;
  readonly icon?: LucideIcon | undefined;
  readonly children: ReactNode;
}

/** A link that looks like a button, for actions that only open another page. */
export function LinkButton({
  variant = "secondary",
  size = "medium",
  icon: Icon,
  children,
  ...rest
}: LinkButtonProps) {
  return (
    <Anchor {...rest} className={buttonLook(variant, size)}>
      {Icon === undefined ? null : <Icon aria-hidden />}
      {children}
    </Anchor>
  );
}
