/**
 * Colours and fonts of the HTML pages, the same as those of the dashboard (web/src/ui/tokens.css).
 * The person's choice in the dashboard, or else the system's setting, selects light or dark.
 */
export const palette = `:root {
  color-scheme: light dark;
  --page: light-dark(oklch(.972 .007 92), oklch(.185 .018 250));
  --sheet: light-dark(oklch(.995 .003 92), oklch(.215 .019 250));
  --well: light-dark(oklch(.95 .009 92), oklch(.16 .016 250));
  --field: light-dark(oklch(.995 .003 92), oklch(.16 .016 250));
  --hover: light-dark(oklch(.935 .01 92), oklch(.26 .021 250));
  --pick: light-dark(oklch(.93 .028 218), oklch(.285 .04 222));
  --rule: light-dark(oklch(.89 .01 92), oklch(.31 .021 250));
  --edge: light-dark(oklch(.605 .016 92), oklch(.575 .024 250));
  --ink: light-dark(oklch(.255 .022 250), oklch(.935 .01 92));
  --ink-2: light-dark(oklch(.425 .022 250), oklch(.78 .014 92));
  --ink-3: light-dark(oklch(.5 .02 250), oklch(.69 .016 250));
  --tide: light-dark(oklch(.47 .085 222), oklch(.8 .095 210));
  --moss: light-dark(oklch(.47 .08 152), oklch(.775 .085 155));
  --flare: light-dark(oklch(.515 .185 30), oklch(.73 .15 32));
  --brass: light-dark(oklch(.5 .1 75), oklch(.82 .11 85));
  --sans: "Atkinson Next", system-ui, sans-serif;
  --mono: "Atkinson Mono", ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
}
:root[data-theme=light] { color-scheme: light; }
:root[data-theme=dark] { color-scheme: dark; }
`;
