import { resolve } from "node:path";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/**
 * Starts the download of the font for texts together with the page. Without it, the browser would
 * find the font only after parsing the style sheet. The font for code is not included, because not
 * every page uses it.
 */
const preloadFont: Plugin = {
  name: "preload-font",
  transformIndexHtml: {
    order: "post",
    handler: (_html, { bundle = {} }) =>
      Object.keys(bundle)
        .filter((file) => /-next-latin-wght-normal-[\w-]+\.woff2$/.test(file))
        .map((file) => ({
          tag: "link",
          // Browsers request fonts in anonymous CORS mode, even those of the same origin. The
          // preload must have the same mode to be used.
          attrs: {
            rel: "preload",
            href: `/${file}`,
            as: "font",
            type: "font/woff2",
            crossorigin: "",
          },
          injectTo: "head-prepend",
        })),
  },
};

/**
 * Screens whose code is downloaded together with the page. Each key is the name of a `data-`
 * attribute, from which public/theme.js reads the names of the screen's built files.
 */
const firstScreens = {
  overview: "overview/overview-screen.tsx",
  runs: "runs/list/runs-screen.tsx",
  run: "runs/run/run-screen.tsx",
};

/**
 * Writes the file names of `firstScreens` into `data-` attributes of the `<script>` element of
 * public/theme.js, without the files that every page loads.
 */
const nameFirstScreens: Plugin = {
  name: "name-first-screens",
  transformIndexHtml: {
    order: "post",
    handler(html, { bundle = {} }) {
      const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
      const first = filesOf(
        chunks.filter(({ isEntry }) => isEntry).map(({ fileName }) => fileName),
      );
      const attributes = Object.entries(firstScreens).map(([name, path]) => {
        const screen = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(path) === true);
        const files = filesOf(screen === undefined ? [] : [screen.fileName]);
        const names = [...files].filter((file) => !first.has(file));
        return `data-${name}="${names.map((file) => file.replace("assets/", "")).join(" ")}"`;
      });
      return html.replace('src="/theme.js"', `src="/theme.js" ${attributes.join(" ")}`);

      /** Returns the files and all files that they import. */
      function filesOf(names: readonly string[]): Set<string> {
        const files = new Set(names);
        for (const name of files)
          for (const imported of chunks.find(({ fileName }) => fileName === name)?.imports ?? [])
            files.add(imported);
        return files;
      }
    },
  },
};

const worker = resolve(import.meta.dirname, "src/live/worker.ts");
/** The module from which the page imports the URL of the worker's script. */
const workerUrl = "./worker.ts?sharedworker&url";
/** The modules that the worker imports, directly or not. */
const importedByWorker = new Set<string>();

/**
 * Builds the SharedWorker together with the page, so that both load the same file of the modules
 * that both use. Vite alone builds workers separately, and a browser would load the client twice.
 */
const shareWithWorker: Plugin = {
  name: "share-with-worker",
  apply: "build",
  enforce: "pre",
  resolveId: (source) => (source === workerUrl ? `\0${workerUrl}` : undefined),
  load(id) {
    if (id !== `\0${workerUrl}`) return undefined;
    const emitted = this.emitFile({ type: "chunk", id: worker, name: "worker" });
    return `export default import.meta.ROLLUP_FILE_URL_${emitted};`;
  },
  buildEnd() {
    const importedIds = (id: string) => this.getModuleInfo(id)?.importedIds ?? [];
    for (const id of importedIds(worker)) importedByWorker.add(id);
    for (const id of importedByWorker)
      for (const imported of importedIds(id)) importedByWorker.add(imported);
  },
};

/** What only tables and their filters use. The overview has none. */
const tableParts = [
  "ui/table/",
  "ui/use-enter-at-top.ts",
  "ui/form/search/",
  "data/rows/list-status.tsx",
  "agents/choice/agent-picker.tsx",
  "runs/agent-filter.tsx",
].map((part) => resolve(import.meta.dirname, "src", part));
const isTablePart = (id: string) => tableParts.some((part) => id.startsWith(part));

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss(), preloadFont, nameFirstScreens, shareWithWorker],
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "baseline-widely-available",
    // Browsers without modulepreload load the same modules, only later, so they need no polyfill.
    modulePreload: { polyfill: false },
    // Small assets would become data: URLs, which the Content-Security-Policy forbids.
    assetsInlineLimit: 0,
    // The manifest names the files of each screen. `bench/dashboard/sizes.ts` reads it.
    manifest: true,
    // The licences of the packages require that their text comes with the code.
    license: true,
    // `bench/dashboard/sizes.ts` measures the compressed sizes instead.
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "live", test: (id) => importedByWorker.has(id), priority: 3 },
            // Everything else that the page's entry imports, in one file: files of a few hundred
            // bytes compress badly.
            { name: "shell", test: (id) => id !== worker, tags: ["$initial"], priority: 2 },
            // Modules that at least seven chunks import, and icons and hooks that two import, in
            // one file: they are smaller than the overhead of a file of their own. What only tables
            // use is in another file, which pages without a table do not load.
            {
              name: "common",
              test: (id) => /[\\/]web[\\/]src[\\/]/.test(id) && !isTablePart(id),
              minShareCount: 7,
              priority: 1,
            },
            {
              name: "common",
              test: /[\\/](lucide-react|react-query)[\\/]/,
              minShareCount: 2,
              priority: 1,
            },
            { name: "tables", test: isTablePart, minShareCount: 3 },
          ],
        },
      },
    },
  },
});
