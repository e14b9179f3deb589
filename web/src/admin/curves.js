// Curves, drawn by uPlot. Only the live screen loads this, with curves.css. A curve is a picture: its numbers also stand
// in a table beside it.
import uPlot from '../../vendor/uplot/index.js';

const HEIGHT = 180; // px

/** Colours and dashes that differ without colour, too: of lines 1 to 3. */
export const DASHES = [[], [6, 4], [2, 3]];

/**
 * Draws curves into a node, as wide as it is. A line is {colour, dash}; clock(seconds) writes a time; span is how many
 * seconds are shown at least.
 * @returns {{show(data): void, end(): void}}  data is [seconds since 1970 ascending, values of line 1, …]; null is a gap
 */
export function curves(node, { lines, clock, span, ink, grid }) {
  const font = `12px ${getComputedStyle(node).fontFamily}`;
  const axis = { stroke: ink, font, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
  const plot = new uPlot(
    {
      width: Math.max(node.clientWidth, 100),
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { range: (_, from, to) => [Math.min(from, to - span), to] }, y: { range: (_, least, most) => [0, Math.max(1, most * 1.1)] } },
      axes: [
        { ...axis, values: (_, at) => at.map(clock), space: 70, size: 30 },
        { ...axis, size: 48 },
      ],
      series: [{}, ...lines.map(({ colour, dash }) => ({ stroke: colour, width: 2, dash, points: { size: 5, fill: colour } }))],
    },
    [[], ...lines.map(() => [])],
    node,
  );
  const seen = new ResizeObserver(() => plot.setSize({ width: Math.max(node.clientWidth, 100), height: HEIGHT }));
  seen.observe(node);
  return {
    show: (data) => plot.setData(data),
    end() {
      seen.disconnect();
      plot.destroy();
    },
  };
}
