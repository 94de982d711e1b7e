/// <reference lib="dom" />
// The contrast of a text, measured in the page (WCAG 2). The function is sent to the browser, so it must stand alone.

export function contrastOf(element: Element): number {
  const parsed = (color: string): number[] => {
    const [r = 0, g = 0, b = 0, a = 1] = (color.match(/[\d.]+/g) ?? []).map(Number);
    return [r, g, b, a];
  };
  const over = ([r = 0, g = 0, b = 0, a = 1]: number[], behind: number[]): number[] =>
    [r, g, b].map((value, at) => value * a + (behind[at] ?? 0) * (1 - a));
  const backgrounds: number[][] = [];
  for (let at: Element | null = element; at; at = at.parentElement)
    backgrounds.push(parsed(getComputedStyle(at).backgroundColor));
  const background = backgrounds.reduceRight((behind, color) => over(color, behind), [255, 255, 255]);
  const { color, fill } = getComputedStyle(element);
  const foreground = over(parsed(element instanceof SVGElement ? fill : color), background);
  const luminance = (color: number[]): number => {
    const [r = 0, g = 0, b = 0] = color
      .map((value) => value / 255)
      .map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [light = 0, dark = 0] = [luminance(foreground), luminance(background)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}
