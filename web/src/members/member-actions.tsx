import type { Member } from "@beckon/client";
import { EllipsisVertical, KeyRound, LogOut, UserCog, UserMinus } from "lucide-react";
import { useState } from "react";
import { useMe, useWorkspace } from "../data/index.ts";
import { IconButton, Menu } from "../ui/index.ts";
import { RemoveMember } from "./remove-member.tsx";
import { ResetLink } from "./reset-link.tsx";
import { RoleDialog } from "./role-dialog.tsx";
import { outOfReach } from "./roles.ts";

/** The actions on a member. Everybody can leave the workspace. */
export function MemberActions({ member }: { readonly member: Member }) {
  const { role: ownRole, whyNot } = useWorkspace();
  const isOwn = useMe().id === member.id;
  const [open, setOpen] = useState<"role" | "reset" | "remove">();
  const close = () => setOpen(undefined);
  const fixed = whyNot("members:write") ?? outOfReach(member.role, ownRole);
  return (
    <>
      <Menu
        label={`Actions for ${member.name}`}
        trigger={
          <IconButton
            icon={EllipsisVertical}
            label={`Actions for ${member.name}`}
            size="small"
            tooltip={false}
          />
        }
        items={[
          {
            label: "Change role…",
            icon: UserCog,
            onSelect: () => setOpen("role"),
            disabledReason: fixed,
          },
          {
            label: "Make a reset link…",
            icon: KeyRound,
            onSelect: () => setOpen("reset"),
            disabledReason: isOwn
              ? "Change your own password in the settings, under Your account."
              : whyNot("workspaces:own"),
          },
          "separator",
          isOwn
            ? {
                label: "Leave workspace…",
                icon: LogOut,
                danger: true,
                onSelect: () => setOpen("remove"),
              }
            : {
                label: "Remove…",
                icon: UserMinus,
                danger: true,
                onSelect: () => setOpen("remove"),
                disabledReason: fixed,
              },
        ]}
      />
      {open === "role" ? <RoleDialog member={member} close={close} /> : null}
      {open === "reset" ? <ResetLink member={member} close={close} /> : null}
      {open === "remove" ? <RemoveMember member={member} isOwn={isOwn} close={close} /> : null}
    </>
  );
}
