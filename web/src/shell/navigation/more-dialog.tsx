import { Search } from "lucide-react";
import { Button, Dialog } from "../../ui/index.ts";
import { NavigationLink } from "./item-link.tsx";
import { useNavigation } from "./items.ts";
import { Lamp } from "./lamp.tsx";
import { PersonMenu } from "./person-menu.tsx";
import { WorkspaceSwitcher } from "./workspace-switcher.tsx";

interface MoreDialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly openPalette: () => void;
  readonly showKeys: () => void;
  readonly signOut: () => void;
}

/**
 * A dialog for phones with what the bar at the bottom has no space for: the button of the palette,
 * the other screens, the status of live updates, and the menus of the workspace and the person.
 */
export function MoreDialog(props: MoreDialogProps) {
  const { open, onOpenChange, openPalette, showKeys, signOut } = props;
  const items = useNavigation().filter(({ group }) => group !== "work");
  const close = () => onOpenChange(false);
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="More" size="small">
      <div className="flex flex-col gap-2">
        <Button
          icon={Search}
          onClick={() => {
            close();
            openPalette();
          }}
        >
          Find, go and act
        </Button>
        {items.length === 0 ? null : (
          <ul className="flex flex-col">
            {items.map((item) => (
              <li key={item.path}>
                <NavigationLink item={item} hasLabel onClick={close} />
              </li>
            ))}
          </ul>
        )}
        <div className="flex flex-col border-rule border-t pt-2">
          <Lamp hasLabel />
          <WorkspaceSwitcher hasLabel />
          <PersonMenu
            hasLabel
            showKeys={() => {
              close();
              showKeys();
            }}
            signOut={() => {
              close();
              signOut();
            }}
          />
        </div>
      </div>
    </Dialog>
  );
}
