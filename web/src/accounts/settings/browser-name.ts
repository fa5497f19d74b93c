/**
 * Browsers and the texts in `User-Agent` by which they are recognized. The first match counts,
 * since many browsers name Chrome too.
 */
const browsers: readonly (readonly [mark: RegExp, name: string])[] = [
  [/\bEdgA?(?:iOS)?\/(\d+)/, "Edge"],
  [/\bOPR\/(\d+)/, "Opera"],
  [/\bSamsungBrowser\/(\d+)/, "Samsung Internet"],
  [/\bVivaldi\/(\d+)/, "Vivaldi"],
  [/\b(?:Firefox|FxiOS)\/(\d+)/, "Firefox"],
  [/\bHeadlessChrome\/(\d+)/, "Chrome without a window"],
  [/\b(?:Chrome|CriOS)\/(\d+)/, "Chrome"],
  [/\bVersion\/(\d+)[\d.]* (?:Mobile\/\w+ )?Safari\//, "Safari"],
  [/\bcurl\/(\d+)/, "curl"],
  [/^node\b(?:\/v?(\d+))?/, "Node.js"],
  [/\bpython-requests\/(\d+)/i, "Python"],
];

const systems: readonly (readonly [mark: RegExp, name: string])[] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMacintosh\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
];

/** Returns the browser and system of a `User-Agent` in words: "Chrome 142 on Windows". */
export function browserName(userAgent: string | null): string {
  if (userAgent === null || userAgent === "") return "Unknown browser";
  const browser = browsers.flatMap(([mark, name]) => {
    const found = mark.exec(userAgent);
    if (found === null) return [];
    return [found[1] === undefined ? name : `${name} ${found[1]}`];
  })[0];
  const system = systems.find(([mark]) => mark.test(userAgent))?.[1];
  if (browser === undefined)
    return system === undefined ? "Unknown browser" : `Unknown browser on ${system}`;
  return system === undefined ? browser : `${browser} on ${system}`;
}
