import type { ModelPrice } from "@beckon/client";
import { EllipsisVertical, Pencil, Plus, Trash2 } from "lucide-react";
import { reasonWithout, useWorkspace } from "../data/index.ts";
import { Badge, type Column, IconButton, Menu, type MenuItem, menuColumn } from "../ui/index.ts";
import { originTexts } from "./origins.ts";
import { Rate } from "./rate.tsx";

/** An action on a price that opens a dialog. The URL contains the name of the action. */
export type PriceAct = "set" | "delete";

type RateName =
  | "input_micros_per_million"
  | "cached_input_micros_per_million"
  | "cache_write_micros_per_million"
  | "output_micros_per_million";

/**
 * Returns the columns of the table of prices.
 * @param isNarrow whether only one column fits
 */
export function priceColumns(
  isNarrow: boolean,
  onAct: (price: ModelPrice, act: PriceAct) => void,
): readonly Column<ModelPrice>[] {
  const model: Column<ModelPrice> = {
    id: "model",
    header: "Model",
    cell: (price) => (
      <span className="flex min-w-0 flex-col">
        <bdi className="truncate font-mono text-dense" title={price.model}>
          {price.model}
        </bdi>
        {isNarrow ? <Rates price={price} /> : null}
      </span>
    ),
  };
  const menu = menuColumn<ModelPrice>((price) => (
    <PriceMenu price={price} onAct={(act) => onAct(price, act)} />
  ));
  if (isNarrow) return [model, menu];
  return [
    model,
    {
      id: "origin",
      header: "Price from",
      width: 120,
      cell: ({ current }) =>
        current === null ? (
          <Badge tone="brass">Unknown</Badge>
        ) : (
          <span title={originTexts[current.origin].hint}>{originTexts[current.origin].label}</span>
        ),
    },
    rate("input", "Input", "input_micros_per_million"),
    rate("cached", "From cache", "cached_input_micros_per_million", "lg"),
    rate("written", "To cache", "cache_write_micros_per_million", "lg"),
    rate("output", "Output", "output_micros_per_million"),
    menu,
  ];
}

/** The prices of input and output in one line, for phones. */
function Rates({ price: { current } }: { readonly price: ModelPrice }) {
  if (current === null) return <span className="text-dense text-ink-3">Price unknown</span>;
  return (
    <span className="truncate text-dense text-ink-2">
      <Rate micros={current.input_micros_per_million} isKnown /> in ·{" "}
      <Rate micros={current.output_micros_per_million} isKnown /> out
    </span>
  );
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
