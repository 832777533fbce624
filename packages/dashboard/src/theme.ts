// The theme: one accent color, system fonts, and text colors with enough contrast on both backgrounds.
import {
  Anchor,
  type CSSVariablesResolver,
  createTheme,
  type MantineColorsTuple,
  Modal,
} from "@mantine/core";

const accent: MantineColorsTuple = [
  "#eef6fb",
  "#d9eaf5",
  "#b3d5ea",
  "#8bc0df",
  "#6cb2d9",
  "#459acb",
  "#1d7aae",
  "#15638f",
  "#115480",
  "#0b3d5f",
];

const dark: MantineColorsTuple = [
  "#d9dee4",
  "#b9c1ca",
  "#8d96a1",
  "#5f6974",
  "#3d454f",
  "#2b3139",
  "#1f242b",
  "#15181c",
  "#101316",
  "#0b0d0f",
];

const systemFonts =
  'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif';
const systemMonospace =
  'ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';

export const theme = createTheme({
  primaryColor: "accent",
  primaryShade: { light: 7, dark: 6 },
  colors: { accent, dark },
  autoContrast: true,
  fontFamily: systemFonts,
  fontFamilyMonospace: systemMonospace,
  headings: { fontFamily: systemFonts, fontWeight: "650" },
  defaultRadius: "md",
  respectReducedMotion: true,
  cursorType: "pointer",
  components: {
    // A link in a sentence must not rely on color alone.
    Anchor: Anchor.extend({ defaultProps: { underline: "always" } }),
    // The library makes it a header, and a page has only one of them.
    ModalHeader: Modal.Header.extend({ defaultProps: { role: "presentation" } }),
    Modal: Modal.extend({ defaultProps: { closeButtonProps: { "aria-label": "Close" } } }),
  },
});

/** The library's dimmed text and placeholders lack the contrast that WCAG AA requires. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: { "--halyard-danger": "#c92a2a" },
  light: {
    "--mantine-color-text": "#15181c",
    "--mantine-color-dimmed": "#545b63",
    "--mantine-color-placeholder": "#666d75",
    "--mantine-color-body": "#ffffff",
    "--mantine-color-error": "#c92a2a",
    "--halyard-accent": "#15638f",
    "--halyard-surface": "#f6f8fa",
    "--halyard-line": "#d9dee4",
    "--halyard-hover": "#eef2f6",
    "--halyard-on": "#12724b",
    "--halyard-off": "#6b7480",
    "--halyard-on-soft": "#e3f5ec",
    "--halyard-removed": "#b42323",
    "--halyard-series-green": "#12724b",
    "--halyard-series-orange": "#b35309",
    "--halyard-series-violet": "#6741d9",
    "--halyard-series-teal": "#0b7285",
    "--halyard-series-pink": "#c2255c",
  },
  dark: {
    "--mantine-color-dimmed": "#a9b1ba",
    "--mantine-color-placeholder": "#959da6",
    "--mantine-color-body": "#15181c",
    "--mantine-color-error": "#ff8787",
    "--halyard-accent": "#6cb2d9",
    "--halyard-surface": "#1c2026",
    "--halyard-line": "#343a42",
    "--halyard-hover": "#252a31",
    "--halyard-on": "#5fd3a0",
    "--halyard-off": "#98a2ad",
    "--halyard-on-soft": "#17362a",
    "--halyard-removed": "#ff9c9c",
    "--halyard-series-green": "#5fd3a0",
    "--halyard-series-orange": "#ffa94d",
    "--halyard-series-violet": "#b197fc",
    "--halyard-series-teal": "#66d9e8",
    "--halyard-series-pink": "#faa2c1",
  },
});
