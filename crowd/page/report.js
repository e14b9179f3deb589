// The pictures of a report: `report` holds series by steps from the opening on, and latency histograms.
(() => {
  const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const { step_ms: stepMS, ...counts } = report.series;
  const steps = Math.max(1, ...Object.values(counts).map(c => (c || []).length));
  const seconds = Array.from({ length: steps + 1 }, (_, i) => (i * stepMS) / 1000);
  const each = name => seconds.map((_, i) => (counts[name] || [])[i] || 0);
  const soFar = name => {
    let sum = 0;
    return [0, ...each(name).slice(0, steps).map(n => (sum += n))];
  };

  const axis = label => ({ label, stroke: css('--soft'), grid: { stroke: css('--line'), width: 1 }, ticks: { stroke: css('--line'), width: 1 }, labelSize: 22, labelGap: 0, font: '12px system-ui, sans-serif', labelFont: '12px system-ui, sans-serif' });
  const line = (label, color, dash) => ({ label, stroke: css(color), width: 2, dash, points: { show: false } });
  const whole = (_, ticks) => ticks.map(v => (v === null || v % 1 ? '' : String(v)));

  function sales() {
    return [{
      scales: { x: { time: false } },
      series: [{ label: 'second', value: (_, v) => (v === null ? '' : v.toFixed(1)) }, line('accepted', '--sold'), line('placed', '--good'), line('paid', '--paid')],
      axes: [axis('seconds from the opening'), { ...axis('orders'), size: 64, values: whole }],
    }, [seconds, soFar('accepted'), soFar('placed'), soFar('paid')]];
  }

  function answers() {
    return [{
      scales: { x: { time: false } },
      series: [{ label: 'second', value: (_, v) => (v === null ? '' : v.toFixed(1)) }, line('pressed', '--soft', [4, 4]), line('accepted', '--sold'), line('sold out', '--warn'),
        line('refused otherwise', '--paid'), line('unavailable or lost', '--bad')],
      axes: [axis('seconds from the opening'), { ...axis('in a tenth of a second'), size: 64, values: whole }],
    }, [seconds, each('arrived'), each('accepted'), each('sold_out'), each('refused_otherwise'), each('unavailable_or_lost')]];
  }

  const colors = { placed: '--good', sold_out: '--warn', refused: '--paid' };
  function latency() {
    const bounds = [...new Set(report.latencies.flatMap(h => h.from_ms))].sort((a, b) => a - b);
    const shares = report.latencies.map(h => {
      const total = h.counts.reduce((a, b) => a + b, 0);
      const at = new Map(h.from_ms.map((from, i) => [from, (100 * h.counts[i]) / total]));
      return bounds.map(b => at.get(b) || 0);
    });
    const stepped = uPlot.paths.stepped({ align: 1 });
    return [{
      scales: { x: { time: false, distr: 3 } },
      series: [{ label: 'from ms', value: (_, v) => (v === null ? '' : v.toPrecision(3)) },
        ...report.latencies.map(h => ({ ...line(h.name.replace('_', ' '), colors[h.name]), fill: css(colors[h.name]) + '33', paths: stepped, value: (_, v) => (v === null ? '' : v.toFixed(1) + ' %') }))],
      axes: [{ ...axis('milliseconds'), values: (_, ticks) => ticks.map(v => (v !== null && Math.abs(Math.log10(v) % 1) < 1e-9 ? String(+v.toPrecision(3)) : '')) }, { ...axis('% of shoppers'), size: 64 }],
    }, [bounds, ...shares]];
  }

  const drawn = [];
  function draw() {
    for (const u of drawn.splice(0)) u.destroy();
    for (const [id, make] of Object.entries({ sales, answers, latency })) {
      const box = document.getElementById(id);
      const [options, data] = make();
      if (data[0].length < 2) {
        box.textContent = 'Nothing to show.';
        continue;
      }
      drawn.push(new uPlot({ width: box.clientWidth, height: 260, ...options }, data, box));
    }
  }
  draw();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  let width = innerWidth;
  addEventListener('resize', () => {
    if (innerWidth === width) return;
    width = innerWidth;
    for (const u of drawn) u.setSize({ width: u.root.parentNode.clientWidth, height: 260 });
  });
})();
