/** Colours of the HTML pages. The system's setting selects the light or the dark ones. */
export const palette = `:root { color-scheme: light dark; --text: #1c1e21; --soft: #5c6370; --back: #fff; --box: #f4f5f7; --line: #d9dce1; --mark: #0b57d0; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e8eb; --soft: #9aa1ac; --back: #14161a; --box: #1d2026; --line: #343941; --mark: #8ab4f8; } }
`;
