// Reads /metrics as Prometheus would: every line must be one that it understands.
import assert from "node:assert/strict";

export interface Scraped {
  /** Names with the suffixes of histograms. */
  readonly names: ReadonlySet<string>;
  /** The sum of all series of this name whose labels contain these; 0 when there are none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number;
  /** The values that a label has anywhere. */
  labelValues(name: string, label: string): ReadonlySet<string>;
}

const linePattern = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const labelPattern = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"(?:,|$)/gy;

export const parseScrape = (text: string): Scraped => {
  const series: { name: string; labels: Map<string, string>; value: number }[] = [];
  for (const line of text.split("\n")) {
    if (line === "" || /^# (HELP|TYPE) /.test(line)) continue;
    const [, name = "", labelText = "", number = ""] = linePattern.exec(line) ?? [];
    assert.notEqual(name, "", `${line} is no line of metrics`);
    const labels = new Map<string, string>();
    let length = 0;
    for (const [whole, label = "", value = ""] of labelText.matchAll(labelPattern)) {
      assert.ok(!labels.has(label), line);
      labels.set(label, value);
      length += whole.length;
    }
    assert.equal(length, labelText.length, `${line} has labels that cannot be read`);
    const value = /^[+-]?Inf$|^Nan$/i.test(number) ? Number.NaN : Number(number);
    assert.ok(Number.isFinite(value) || /^([+-]?Inf|NaN)$/i.test(number), line);
    series.push({ name, labels, value });
  }
  return {
    names: new Set(series.map(({ name }) => name)),
    value: (name, wanted = {}) =>
      series
        .filter((each) => each.name === name)
        .filter(({ labels }) =>
          Object.entries(wanted).every(([label, value]) => labels.get(label) === value),
        )
        .reduce((sum, each) => sum + each.value, 0),
    labelValues: (name, label) =>
      new Set(
        series.filter((each) => each.name === name).map(({ labels }) => labels.get(label) ?? ""),
      ),
  };
};

export const scrape = async (
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Scraped> => {
  const response = await fetch(`${url}/metrics`, { headers });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  assert.match(response.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/);
  return parseScrape(text);
};
