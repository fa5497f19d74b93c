import type { ModelPrice } from "@beckon/client";
import { EllipsisVertical, Pencil, Plus, Trash2 } from "lucide-react";
import { reasonWithout, useWorkspace } from "../data/index.ts";
import { Badge, type Column, IconButton, Menu, type MenuItem } from "../ui/index.ts";
import { originTexts } from "./origins.ts";
import { Rate } from "./rate.tsx";

/** An action on a price that opens a dialog. The URL contains its name. */
export type PriceAct = "set" | "delete";

type RateName =
  | "input_micros_per_million"
  | "cached_input_micros_per_million"
  | "cache_write_micros_per_million"
  | "output_micros_per_million";

/** Returns the columns of the table of prices. */
export function priceColumns(
  onAct: (price: ModelPrice, act: PriceAct) => void,
): readonly Column<ModelPrice>[] {
  return [
    {
      id: "model",
      header: "Model",
      cell: ({ model }) => (
        <bdi className="font-mono text-dense" title={model}>
          {model}
        </bdi>
      ),
    },
    rate("input", "Input", "input_micros_per_million"),
    rate("cached", "From cache", "cached_input_micros_per_million", "lg"),
    rate("written", "To cache", "cache_write_micros_per_million", "lg"),
    rate("output", "Output", "output_micros_per_million"),
    {
      id: "origin",
      header: "Price from",
      width: 120,
      from: "md",
      cell: ({ current }) =>
        current === null ? (
          <Badge tone="brass">Unknown</Badge>
        ) : (
          <span title={originTexts[current.origin].hint}>{originTexts[current.origin].label}</span>
        ),
    },
    {
      id: "menu",
      header: "Actions",
      headerHidden: true,
      isControl: true,
      width: 68,
      align: "end",
      cell: (price) => <PriceMenu price={price} onAct={(act) => onAct(price, act)} />,
    },
  ];
}

function rate(
  id: string,
  header: string,
  name: RateName,
  from?: Column<ModelPrice>["from"],
): Column<ModelPrice> {
  return {
    id,
    header,
    width: 104,
    from,
    align: "end",
    cell: ({ current }) => <Rate micros={current?.[name]} isKnown={current !== null} />,
  };
}

interface PriceMenuProps {
  readonly price: ModelPrice;
  readonly onAct: (act: PriceAct) => void;
}

function PriceMenu({ price, onAct }: PriceMenuProps) {
  const { can } = useWorkspace();
  const label = `More about the price of ${price.model}`;
  const disabledReason =
    price.provider_id === null
      ? "Only the operator of Beckon sets the price of this model."
      : reasonWithout("limits:write", can);
  const change: MenuItem =
    price.id === null
      ? { label: "Set price", icon: Plus, onSelect: () => onAct("set"), disabledReason }
      : { label: "Change price", icon: Pencil, onSelect: () => onAct("set"), disabledReason };
  const remove: readonly MenuItem[] =
    price.id === null
      ? []
      : [
          "separator",
          {
            label: "Delete price",
            icon: Trash2,
            danger: true,
            onSelect: () => onAct("delete"),
            disabledReason,
          },
        ];
  return (
    <span className="relative z-1 inline-flex align-middle">
      <Menu
        label={label}
        trigger={<IconButton icon={EllipsisVertical} label={label} size="small" tooltip={false} />}
        items={[change, ...remove]}
      />
    </span>
  );
}
