import type { Provider } from "@beckon/client";
import { EllipsisVertical, Pencil, Trash2 } from "lucide-react";
import { useWorkspace } from "../../data/index.ts";
import { IconButton, Menu } from "../../ui/index.ts";

interface ProviderMenuProps {
  readonly provider: Provider;
  readonly edit: () => void;
  readonly remove: () => void;
}

/** The menu with the actions on a workspace's own provider. */
export function ProviderMenu({ provider, edit, remove }: ProviderMenuProps) {
  const { whyNot } = useWorkspace();
  const disabledReason = whyNot("providers:write");
  const label = `More about ${provider.name}`;
  return (
    <Menu
      label={label}
      trigger={<IconButton icon={EllipsisVertical} label={label} size="small" tooltip={false} />}
      items={[
        { label: "Edit", icon: Pencil, onSelect: edit, disabledReason },
        "separator",
        { label: "Delete", icon: Trash2, danger: true, onSelect: remove, disabledReason },
      ]}
    />
  );
}
